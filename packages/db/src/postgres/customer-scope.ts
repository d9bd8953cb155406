import { Prisma, type PrismaClient } from '@lipsync/prisma';

/** Thrown before the query is sent. It is a mistake in this service, never the caller's. */
class UnscopedQueryError extends Error {
  override readonly name = 'UnscopedQueryError';
}

/**
 * A client that refuses a query on customers' rows unless it names the customer: in `where`, or in the data of what is
 * created. So code that forgets to check whose an id is finds nothing. Raw SQL is not checked: the statements that
 * requests use take the customer as their first argument, and tests try each with the ids of another customer.
 */
export function demandCustomer(client: PrismaClient): PrismaClient {
  const scoped = client.$extends({
    name: 'customer scope',
    query: {
      $allModels: {
        $allOperations: ({ model, operation, args, query }) => {
          if (!isScoped(ownerColumn(model), args))
            throw new UnscopedQueryError(`${model}.${operation} names no customer`);
          return query(args);
        },
      },
    },
  });
  // An extension of queries changes no type, but Prisma describes every extended client with one of its own.
  return scoped as unknown as PrismaClient;
}

/** Null: its rows belong to no customer. */
function ownerColumn(model: Prisma.ModelName): string | null {
  if (model === 'Customer') return 'id';
  return 'customerId' in Prisma[`${model}ScalarFieldEnum`] ? 'customerId' : null;
}

function isScoped(column: string | null, args: unknown): boolean {
  if (column === null) return true;
  const { where, data } = Object(args) as { where?: unknown; data?: unknown };
  if (where !== undefined) return names(where, column);
  const created = Array.isArray(data) ? data : [data];
  return created.every((row) => names(row, column));
}

/** Prisma treats a condition that is undefined as none. */
function names(conditions: unknown, column: string): boolean {
  return (Object(conditions) as Readonly<Record<string, unknown>>)[column] !== undefined;
}
