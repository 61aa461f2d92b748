/** Automations and their schedules. */

import type { World } from '../support/account-records.ts';
import { addSchedule } from '../support/account-records.ts';
import type { TestApp } from '../support/app.ts';
import { someText } from './errors.ts';
import {
  choice,
  code,
  gives,
  header,
  integer,
  line,
  optional,
  reference,
  says,
  shared,
  target,
  utrOf,
  utrsOf,
} from './parameters.ts';
import { automation, automationSchedule, listedAutomation } from './records.ts';
import { collection, utr } from './shapes.ts';
import type { Changes, Endpoint, Fault, Values } from './types.ts';

const MJML = '{"tagName":"mjml","attributes":{},"children":[{"tagName":"mj-body","attributes":{},"children":[]}]}';
const HTML = '<p>Welcome</p>';
const fault = (given: Changes, errors: Record<string, RegExp>): Fault => ({ given: () => given, errors });

/** A draft that lacks what the changes take away; gives how to name it. */
async function draft(app: TestApp, world: World, changes: Values, schedules: number): Promise<Changes> {
  const answer = await app.one.call('POST', '/automations/create', {
    form: {
      type: 'custom',
      automation_name: 'Draft',
      unsubscribe_group_id: world.groups[0],
      automation_for: `contacts_${world.contactTypes[0]}`,
      ...changes,
    },
  });
  const made: string = answer.body.message.utr;
  for (let count = 0; count < schedules; count++) await addSchedule(app.one, made, world.senders[0]);
  return { utr: made };
}

export const automations: Endpoint[] = [
  {
    methods: ['GET'],
    path: '/automations',
    success: gives({ automations: collection(listedAutomation) }),
  },
  {
    methods: ['POST'],
    path: '/automations/create',
    body: {
      type: choice('welcome'),
      automation_for: optional(target((world) => `contacts_${world.contactTypes[0]}`)),
      automation_name: header('Welcome'),
      unsubscribe_group_id: reference('groups'),
    },
    success: gives({ utr }),
    // A group of 0 is not chosen yet.
    also: (world) => [
      { type: 'custom' },
      { unsubscribe_group_id: '0' },
      { automation_for: `segments_${world.segments[0]}` },
    ],
    shownAt: ['/automations/details', 'utr'],
  },
  {
    methods: ['GET'],
    path: '/automations/duplicate',
    query: { utr: utrOf('automations') },
    success: gives({ utr }),
    acts: true,
    recordFailure: 'Record not found',
  },
  {
    methods: ['GET'],
    path: '/automations/details',
    query: { utr: utrOf('automations') },
    success: gives({ automation }),
    recordFailure: 'Record Not Found',
  },
  {
    methods: ['GET'],
    path: '/automations/pause',
    query: { utr: utrOf('liveAutomations') },
    success: says('Automation Paused Successfully'),
    acts: true,
    recordFailure: 'Record not found',
    alsoNotFound: (world) => [{ utr: world.automations[0] }],
  },
  {
    methods: ['GET'],
    path: '/automations/set-live',
    query: { utr: utrOf('automations') },
    success: says('Automation has been set live'),
    acts: true,
    recordFailure: 'Record not found',
    conflicts: [
      {
        when: 'it has no unsubscribe group',
        arrange: (app, world) => draft(app, world, { unsubscribe_group_id: '0' }, 1),
        errors: 'Unsubscribe group require to live automation',
      },
      {
        when: 'it has no target',
        arrange: (app, world) => draft(app, world, { automation_for: '' }, 1),
        errors: someText,
      },
      { when: 'it has no mail', arrange: (app, world) => draft(app, world, {}, 0), errors: someText },
    ],
  },
  {
    methods: ['DELETE'],
    path: '/automations/delete',
    query: { utr: utrOf('automations') },
    success: says('Deleted Successfully'),
    recordFailure: 'Record not found',
  },
  {
    methods: ['POST'],
    path: '/automations/bulk-delete',
    body: { strIds: utrsOf('automations') },
    success: says('Deleted Successfully'),
    same: (world) => [{ strIds: [...world.automationIds] }, { strIds: [world.automations[0], world.automationIds[1]] }],
    recordFailure: 'Record not found',
  },
  {
    methods: ['GET'],
    path: '/automations/schedule',
    query: { utr: utrOf('automations') },
    success: gives({ automation_schedules: collection(automationSchedule) }),
    recordFailure: 'Record not found',
  },
  {
    methods: ['POST'],
    path: '/automations/schedule/create',
    body: {
      utr: utrOf('automations'),
      sender_id: reference('senders'),
      subject: header('Welcome, ((first_name|friend))'),
      waiting_period: integer('1'),
      waiting_type: choice('instantly'),
      template_id: shared('1'),
      preview_img: line('blank.png'),
      template_json: code(),
      template_html: code(),
    },
    success: says('Schedule Added'),
    also: () => [
      { waiting_type: 'days', waiting_period: '3' },
      { waiting_type: 'hours', waiting_period: '12' },
      { template_html: HTML },
      { template_json: MJML },
    ],
    recordFailure: 'Record not found',
    faults: [
      fault({ template_json: 'Hello' }, { template_json: someText }),
      fault({ template_json: '{"tagName":"div"}' }, { template_json: someText }),
      { given: () => ({ template_json: MJML, template_html: HTML }), among: ['template_json', 'template_html'] },
    ],
  },
  {
    methods: ['DELETE'],
    path: '/automations/schedule/delete',
    query: { utr: utrOf('schedules') },
    success: says('Deleted Successfully'),
    recordFailure: 'Record not found',
  },
];
