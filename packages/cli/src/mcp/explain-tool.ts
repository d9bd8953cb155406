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
        'What an error means and what to do about it. Name the id of what failed (a render, preparation or asset), which explains its error and that of every engine, or only a code, which explains it from the published catalogue. Name one of the two.',
      inputSchema: z.strictObject({
        id: resourceId('ren_…, prp_… or ast_…').exactOptional(),
        code: z.string().min(1).exactOptional().describe('As errors have it, for instance no_face_detected'),
      }),
      outputSchema: explanationOutput,
      annotations: { readOnlyHint: true, openWorldHint: true },
    },
    tool(workplace, async ({ id, code }, { session }) => {
      if ((id === undefined) === (code === undefined))
        throw new CommandError('Name either an id or a code.', 'usage');
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
  if (errors.length === 0) return ['It carries no error. Its state: call status.'];
  return errors.flatMap((error, i) => [
    ...(i > 0 ? [''] : []),
    ...(error.engine === undefined ? [] : [`Engine ${error.engine}:`]),
    ...explanationLines(error),
  ]);
}
