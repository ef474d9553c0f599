/** What an expression may name: variables, and functions by what they give. */
import type { CelType } from './check.js';

export interface CelEnvironment {
  readonly variables: readonly string[];
  /** Called freely or on a value. */
  readonly functions: Readonly<Record<string, CelType>>;
}

function giving(type: CelType, names: string): Readonly<Record<string, CelType>> {
  return Object.fromEntries(names.split(' ').map((name) => [name, type]));
}

const standard: Readonly<Record<string, CelType>> = {
  ...giving('bool', 'has contains startsWith endsWith matches bool'),
  ...giving(
    'int',
    'size int getDate getDayOfMonth getDayOfWeek getDayOfYear getFullYear getHours getMilliseconds getMinutes getMonth getSeconds',
  ),
  ...giving('uint', 'uint'),
  ...giving('double', 'double'),
  ...giving('string', 'string'),
  ...giving('bytes', 'bytes'),
  ...giving('unknown', 'type dyn duration timestamp'),
};

/** The extensions for strings, numbers and lists, which expressions on nodes have. */
const extensions: Readonly<Record<string, CelType>> = {
  ...giving('int', 'indexOf lastIndexOf bitAnd bitOr bitXor bitNot bitShiftLeft bitShiftRight'),
  ...giving('string', 'charAt format join lowerAscii quote replace substring trim upperAscii'),
  ...giving('bool', 'isInf isNaN isFinite'),
  ...giving('list', 'split slice flatten range distinct sort sortBy'),
  ...giving('unknown', 'reverse first last greatest least abs ceil floor round sign sqrt trunc'),
};

export const domainEnvironment: CelEnvironment = { variables: ['vmi', 'domainSpec'], functions: standard };
export const nodeEnvironment: CelEnvironment = {
  variables: ['vmi', 'math', 'lists', 'strings'],
  functions: { ...standard, ...extensions },
};
