import { virtualMachineCloneValidation } from '../../apiserver/admission/vmclone/validate.js';
import { testVectors } from './kind-vectors.js';

testVectors('virtual-machine-clone-validate', {
  plugin: virtualMachineCloneValidation(),
  corrections: [
    [/^spec\.Source$/, 'spec.source.kind'],
    [/^spec\.Source/, 'spec.source'],
    [/^spec\.Target/, 'spec.target'],
    [/\.Name$/, '.name'],
    [/\.Kind$/, '.kind'],
    [/\.APIGroup$/, '.apiGroup'],
    [/\.annotations$/, '.annotationFilters[0]'],
    [/\.labels$/, '.labelFilters[0]'],
  ],
});
