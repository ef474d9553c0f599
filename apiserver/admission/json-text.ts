/** JSON inside a string of an object, such as a patch. */
export type JsonText =
  | { readonly valid: true; readonly value: unknown }
  | { readonly valid: false; /** Completes a sentence: `"{" is not JSON: …`. */ readonly fault: string };

export function parseJsonText(text: string): JsonText {
  try {
    const value: unknown = JSON.parse(text);
    return { valid: true, value };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { valid: false, fault: `${JSON.stringify(text)} is not JSON: ${why}` };
  }
}
