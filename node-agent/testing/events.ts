import type { EventRecorder, EventType } from '../../controllers/runtime/event-recorder.js';
import type { KubernetesObject } from '../../openapi/meta.js';

export interface SeenEvent {
  readonly object: string;
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
}

/** Keeps events for assertions. */
export class FakeRecorder implements EventRecorder {
  readonly events: SeenEvent[] = [];

  event(object: KubernetesObject, type: EventType, reason: string, message: string): void {
    this.events.push({ object: `${object.kind}/${object.metadata.name}`, type, reason, message });
  }

  reasons(): string[] {
    return this.events.map(({ reason }) => reason);
  }
}
