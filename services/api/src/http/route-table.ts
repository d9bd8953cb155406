import { type Operation } from '@lipsync/contract';
import { ServiceError } from '@lipsync/domain';

export interface Route {
  operation: Operation;
  /** The path's `{id}`, decoded; empty when the template has none. */
  id: string;
}

interface Template {
  pattern: RegExp;
  operations: Map<string, Operation>;
}

/**
 * Finds the operation for a method and a path under /v1. Paths are case-sensitive, one trailing slash is ignored, and
 * HEAD is routed as GET.
 *
 * The returned function throws ServiceError not_found for an unknown path, and method_not_allowed (with Allow) for a
 * known path with another method.
 */
export function createRouteTable(operations: readonly Operation[]): (method: string, path: string) => Route {
  const templates = new Map<string, Template>();
  for (const operation of operations) {
    const template = templates.get(operation.path) ?? {
      pattern: toPattern(operation.path),
      operations: new Map(),
    };
    template.operations.set(operation.method.toUpperCase(), operation);
    templates.set(operation.path, template);
  }

  return (method, path) => {
    for (const template of templates.values()) {
      const match = template.pattern.exec(path);
      if (match === null) continue;
      const operation = template.operations.get(method === 'HEAD' ? 'GET' : method);
      if (operation === undefined) {
        throw new ServiceError('method_not_allowed', { headers: { Allow: allow(template) } });
      }
      return { operation, id: decode(match[1] ?? '') };
    }
    throw new ServiceError('not_found');
  };
}

function toPattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{[^}]+\}/g, '([^/]+)')}/?$`);
}

function allow(template: Template): string {
  return [...template.operations.keys()]
    .flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    .join(', ');
}

/** An id that cannot be decoded is left as it is: being malformed, it matches no resource. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
