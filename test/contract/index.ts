/** The table of contents of the contract: every resource in the order of the interface, 61 endpoints in all. */
import { automations } from './automations.ts';
import { contactTypes } from './contact-types.ts';
import { contacts } from './contacts.ts';
import { fields } from './fields.ts';
import { globalUnsubscribes } from './global-unsubscribes.ts';
import { places } from './places.ts';
import { segments } from './segments.ts';
import { senders } from './senders.ts';
import { singleSends } from './single-sends.ts';
import { templates } from './templates.ts';
import type { Endpoint } from './types.ts';
import { unsubscribeGroups } from './unsubscribe-groups.ts';

/** The endpoints by resource. */
export const resources: Record<string, Endpoint[]> = {
  'global unsubscribes': globalUnsubscribes,
  'unsubscribe groups': unsubscribeGroups,
  segments,
  'contact types': contactTypes,
  contacts,
  fields,
  templates,
  'single sends': singleSends,
  automations,
  senders,
  places,
};

/** All endpoints of the interface. */
export const endpoints: Endpoint[] = Object.values(resources).flat();
