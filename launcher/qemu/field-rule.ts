/**
 * A field of a VMI's `spec` and how the launcher honours it. `[]` stands for any element, `.**` at the end for everything
 * below.
 */
export interface FieldRule {
  readonly path: string;
  /** How it reaches QEMU, or who else honours it. */
  readonly effect: string;
  /** Why a value cannot be honoured, or nothing. */
  readonly refuse?: (value: unknown) => string | undefined;
}

export const field = (path: string, effect: string, refuse?: FieldRule['refuse']): FieldRule =>
  refuse ? { path, effect, refuse } : { path, effect };
