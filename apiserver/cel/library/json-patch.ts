/** Paths of a JSON patch: `"/metadata/labels/" + jsonpatch.escapeKey("a.example/b")`. */
import { onText, type Library } from './function.js';

export const jsonPatches: Library = {
  'jsonpatch.escapeKey': onText((key) => key.replace(/~/g, '~0').replace(/\//g, '~1')),
};
