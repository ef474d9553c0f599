/** Validating webhooks: all at once, since none can change what another sees. */
import type { AdmissionPlugin } from '../admission/interface.js';
import type { Webhook } from './configuration.js';
import { invocationOf, invoke, type Invocation, type WebhookDependencies } from './invocation.js';
import { anyMatches } from './matching.js';

export function validatingWebhooks(
  webhooks: () => readonly Webhook[],
  dependencies: WebhookDependencies,
): AdmissionPlugin {
  return {
    name: 'ValidatingAdmissionWebhook',
    handles: (request) => anyMatches(webhooks(), request, dependencies),
    async validateLate(request, context) {
      const invocations: Invocation[] = [];
      for (const [index, webhook] of webhooks().entries()) {
        const invocation = await invocationOf(webhook, `round_0_index_${index}`, request, dependencies);
        if (invocation !== undefined) invocations.push(invocation);
      }
      const outcomes = await Promise.allSettled(
        invocations.map((invocation) => invoke(invocation, 'validating', request, context, dependencies)),
      );
      // Of several refusals the client gets the first, as the webhooks are ordered.
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    },
  };
}
