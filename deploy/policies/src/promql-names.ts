export interface Matcher {
  readonly label: string;
  readonly operator: '=' | '!=' | '=~' | '!~';
  /** Unescaped. */
  readonly value: string;
}

export interface Selector {
  readonly metric: string;
  readonly matchers: readonly Matcher[];
}

/** The names that an expression refers to. */
export interface PromqlNames {
  readonly selectors: readonly Selector[];
  /** Labels of `by`, `without`, `on`, `ignoring` and `group_left`. */
  readonly groupingLabels: readonly string[];
}

const KEYWORDS = new Set([
  ...['and', 'or', 'unless', 'bool', 'offset', 'inf', 'nan'],
  ...['by', 'without', 'on', 'ignoring', 'group_left', 'group_right'],
]);
const GROUPING = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g;
const NAME = /([a-zA-Z_:][\w:]*)\s*(\{[^}]*\}|\()?/g;
/** A string with the operator that compares a label with it; a string without one is a function argument. */
const STRING = /([=~]\s*)?"(?:[^"\\]|\\.)*"/g;
const MATCHER = /(\w+)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"/g;

/**
 * The metrics and labels of a PromQL expression. This is not a parser: Prometheus' own checks validity, this only finds
 * the names in valid expressions.
 */
export function promqlNames(expression: string): PromqlNames {
  const groupingLabels = [...expression.matchAll(GROUPING)].flatMap(([, labels = '']) =>
    labels.split(',').map((label) => label.trim()),
  );
  const rest = expression
    .replace(GROUPING, ' ')
    .replace(STRING, (text, compared?: string) => (compared === undefined ? ' ' : text))
    .replace(/\[[^\]]*\]/g, ' ');
  const selectors = [...rest.matchAll(NAME)].flatMap(([, metric = '', behind = '']) =>
    behind === '(' || KEYWORDS.has(metric.toLowerCase()) ? [] : [{ metric, matchers: matchers(behind) }],
  );
  return { selectors, groupingLabels: groupingLabels.filter((label) => label !== '') };
}

function matchers(braces: string): Matcher[] {
  return [...braces.matchAll(MATCHER)].map(([, label = '', operator, value = '']) => ({
    label,
    operator: operator as Matcher['operator'],
    value: value.replace(/\\(.)/g, '$1'),
  }));
}
