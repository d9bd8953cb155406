import { type Markup, markup } from './markup';

export interface Column<Row> {
  readonly head: string;
  readonly cell: (row: Row) => Markup | string;
  /** Numbers are right-aligned. */
  readonly isNumber?: boolean;
}

export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): Markup {
  const kind = ({ isNumber }: Column<Row>): string => (isNumber === true ? 'number' : 'text');
  return markup`<div class="scroll"><table><thead><tr>${columns.map(
    (column) => markup`<th class="${kind(column)}">${column.head}</th>`,
  )}</tr></thead><tbody>${rows.map(
    (row) =>
      markup`<tr>${columns.map((column) => markup`<td class="${kind(column)}">${column.cell(row)}</td>`)}</tr>`,
  )}</tbody></table></div>`;
}
