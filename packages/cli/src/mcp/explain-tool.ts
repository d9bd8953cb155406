import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { CommandError } from '../failures/exit-codes';
import { fetchResource, type Resource } from '../render/resources';
import { tool, type Workplace } from './call';
import { explainCode, explainError, type Explanation, explanationLines } from './explanations';
import { explanationOutput, resourceId } from './schemas';

export function addExplainTool(server: McpServer, workplace: Workplace): void {
  server.registerTool(
    'explain_error',
    {
      title: 'Explain an error',
      description:
        'Explains what an error means and what to do about it. Pass either the id of a render, preparation or asset that failed, to explain its error and those of its engines, or an error code, to explain it from the published catalogue.',
      inputSchema: z.strictObject({
        id: resourceId('ren_…, prp_… or ast_…').exactOptional(),
        code: z.string().min(1).exactOptional().describe('An error code, for instance no_face_detected'),
      }),
      outputSchema: explanationOutput,
      annotations: { readOnlyHint: true, openWorldHint: true },
    },
    tool(workplace, async ({ id, code }, { session }) => {
      if ((id === undefined) === (code === undefined))
        throw new CommandError('Pass either an id or a code.', 'usage');
      const errors =
        id === undefined
          ? [explainCode(code ?? '')]
          : errorsOf(await fetchResource(id, await session.client(), session.interrupted));
      return { structured: { errors }, lines: linesOf(errors) };
    }),
  );
}

type Explained = Explanation & { engine?: string };

function errorsOf(resource: Resource): Explained[] {
  const own = 'error' in resource && resource.error !== undefined ? [explainError(resource.error)] : [];
  const engines = 'engines' in resource ? resource.engines : [];
  return [
    ...own,
    ...engines.flatMap(({ engine, error }) =>
      error === undefined ? [] : [{ engine, ...explainError(error) }],
    ),
  ];
}

function linesOf(errors: readonly Explained[]): string[] {
  if (errors.length === 0) return ['It has no error. Call status for its state.'];
  return errors.flatMap((error, i) => [
    ...(i > 0 ? [''] : []),
    ...(error.engine === undefined ? [] : [`Engine ${error.engine}:`]),
    ...explanationLines(error),
  ]);
}
