import { preconditionFailed } from './s3-error';
import { type StoredObject } from './stored-object';

/** Conditions on an object's current version. A missing value sets no condition. */
export interface Conditions {
  ifMatch: string | undefined;
  ifNoneMatch: string | undefined;
}

/** Throws `PreconditionFailed` unless the conditions hold; an absent object matches no entity tag. */
export function checkConditions(conditions: Conditions, existing: StoredObject | undefined): void {
  const { ifMatch, ifNoneMatch } = conditions;
  if (ifMatch !== undefined && !(existing !== undefined && matches(ifMatch, existing)))
    throw preconditionFailed();
  if (ifNoneMatch !== undefined && existing !== undefined && matches(ifNoneMatch, existing)) {
    throw preconditionFailed();
  }
}

function matches(condition: string, object: StoredObject): boolean {
  return condition
    .split(',')
    .map((tag) => tag.trim().replace(/^"|"$/g, ''))
    .some((tag) => tag === '*' || tag === object.etag);
}
