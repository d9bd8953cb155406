import { type Manifest } from './manifest';
import { type Probe } from './role';
import { type TensorSpec } from './tensor-spec';

/** A role as in every engine's manifest, whatever its tensors are called. */
export interface PackRole {
  readonly file: string;
  readonly sha256: string;
  readonly externalData?: readonly { readonly file: string; readonly sha256: string }[] | undefined;
  readonly inputs: Readonly<Record<string, TensorSpec | undefined>>;
  readonly outputs: Readonly<Record<string, TensorSpec | undefined>>;
  readonly probe?: Probe | undefined;
}

/** The roles that a pack provides, by name, without the optional ones that it omits. */
export function packRoles(manifest: Manifest): ReadonlyMap<string, PackRole> {
  const roles: Readonly<Record<string, PackRole | undefined>> = manifest.roles;
  return new Map(
    Object.entries(roles).flatMap(([name, role]): [string, PackRole][] => (role ? [[name, role]] : [])),
  );
}
