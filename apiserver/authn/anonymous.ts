/** Last in the chain: whoever has no credentials at all. */
import {
  anonymousUser,
  unauthenticatedGroup,
  type Authenticated,
  type Authenticator,
} from './authenticator.js';

const anonymous: Authenticated = {
  user: { name: anonymousUser, groups: [unauthenticatedGroup], extra: {} },
};

export const anonymousAuthenticator: Authenticator = { authenticate: () => anonymous };
