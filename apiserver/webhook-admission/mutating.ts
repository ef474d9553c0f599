/** Mutating webhooks: one after the other, and once more those that want to see what came after them. */
import { cloneJson } from '../../openapi/clone.js';
import type {
  AcceptPatched,
  AdmissionContext,
  AdmissionPlugin,
  AdmissionRequest,
  LateMutation,
} from '../admission/interface.js';
import { Reinvocation } from '../admission/reinvocation.js';
import { isJsonObject } from '../codec/decode.js';
import { ApiError } from '../errors/api-error.js';
import { applyJsonPatch, readOperations } from '../handlers/json-patch.js';
import { sameJson } from '../registry/equal.js';
import type { Webhook } from './configuration.js';
import { invocationOf, invoke, type Invocation, type WebhookDependencies } from './invocation.js';
import { anyMatches } from './matching.js';
import { internal } from './refusals.js';

export function mutatingWebhooks(
  webhooks: () => readonly Webhook[],
  dependencies: WebhookDependencies,
): AdmissionPlugin {
  return {
    name: 'MutatingAdmissionWebhook',
    handles: (request) => anyMatches(webhooks(), request, dependencies),
    mutateLate: (request, context, accept) =>
      new Mutation(webhooks(), dependencies, request, context, accept).run(),
  };
}

/** Of one write. */
class Mutation {
  readonly #reinvocation = new Reinvocation<Webhook>();

  constructor(
    private readonly webhooks: readonly Webhook[],
    private readonly dependencies: WebhookDependencies,
    private readonly request: AdmissionRequest,
    private readonly context: AdmissionContext,
    private readonly accept: AcceptPatched,
  ) {}

  async run(): Promise<LateMutation> {
    let changed = false;
    for (const [index, webhook] of this.webhooks.entries()) {
      if (await this.#invoke(webhook, `round_0_index_${index}`)) changed = true;
    }
    this.#reinvocation.pause(this.request.object);
    return { changed, again: () => this.#runAgain() };
  }

  async #runAgain(): Promise<void> {
    this.#reinvocation.resume(this.request.object);
    for (const [index, webhook] of this.webhooks.entries()) {
      if (this.#reinvocation.isDue(webhook)) await this.#invoke(webhook, `round_1_index_${index}`);
    }
  }

  /** Whether it changed the object. */
  async #invoke(webhook: Webhook, place: string): Promise<boolean> {
    const { request, context, dependencies } = this;
    const invocation = await invocationOf(webhook, place, request, dependencies);
    if (invocation === undefined) return false;
    const response = await invoke(invocation, 'mutation', request, context, dependencies);
    if (response === undefined) return false;
    const changed = response.patch !== undefined && this.#patch(invocation, response.patch);
    const { configuration, name } = webhook;
    context.annotate?.(
      `mutation.webhook.admission.k8s.io/${place}`,
      JSON.stringify({ configuration, webhook: name, mutated: changed }),
    );
    this.#reinvocation.ran(webhook, { changed, mayAgain: webhook.reinvocationPolicy === 'IfNeeded' });
    return changed;
  }

  #patch({ webhook, view }: Invocation, patch: unknown): boolean {
    const { object } = this.request;
    const by = `admission webhook ${JSON.stringify(webhook.name)}`;
    if (object === undefined) {
      if (Array.isArray(patch) && patch.length === 0) return false;
      throw internal(`${by} patches an object that is to be deleted`);
    }
    const before = cloneJson(object);
    let patched: unknown;
    try {
      patched = applyJsonPatch(cloneJson(view.show(object)), readOperations(patch));
    } catch (error) {
      if (error instanceof ApiError)
        throw internal(`${by} gave a patch that can not be applied: ${error.message}`, error);
      throw error;
    }
    if (!isJsonObject(patched)) throw internal(`${by} patched the object away`);
    this.accept(view.takeBack(patched, object));
    return !sameJson(before, object);
  }
}
