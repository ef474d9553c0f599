/** `--controllers`, in kube-controller-manager's syntax. */

export class ControllerSelectionError extends Error {
  override readonly name = 'ControllerSelectionError';
}

/**
 * `*`: all; `name`: this one; `-name`: not this one. What is named wins over `*`; an empty list selects none. In the order
 * of `known`.
 */
export function selectControllers<Name extends string>(list: string, known: readonly Name[]): Name[] {
  const parts = list
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  for (const part of parts) {
    const name = part.replace(/^-/, '');
    if (name === '*' || known.some((each) => each === name)) continue;
    throw new ControllerSelectionError(`there is no controller ${name}: choose from ${known.join(', ')}`);
  }
  const all = parts.includes('*');
  return known.filter((name) => !parts.includes(`-${name}`) && (all || parts.includes(name)));
}
