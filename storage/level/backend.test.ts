import { backendSuite } from '../testing/backend-suite.js';
import { openLevelFixture } from '../testing/level-directory.js';

backendSuite('level', openLevelFixture);
