/** Single sends. The tests' clock stands at 2026-01-15 09:00 UTC. */

import type { World } from '../support/account-records.ts';
import { required, someText } from './errors.ts';
import {
  code,
  date,
  flag,
  gives,
  header,
  optional,
  reference,
  says,
  shared,
  targets,
  time,
  utrOf,
  utrsOf,
} from './parameters.ts';
import { singleSend } from './records.ts';
import { collection, single, utr } from './shapes.ts';
import type { Changes, Endpoint, Fault } from './types.ts';

const MJML = '{"tagName":"mjml","attributes":{},"children":[{"tagName":"mj-body","attributes":{},"children":[]}]}';
const HTML = '<p>Hello ((first_name|there))</p>';

const singleSendBody = {
  template_id: shared('1'),
  template_json: code(),
  template_html: code(),
  sender_id: reference('senders'),
  unsubscribe_group_id: reference('groups'),
  single_send_name: header('Spring'),
  subject: header('Spring is here, ((first_name|friend))'),
  preheader: header('What is new'),
  recipient_id: targets((world) => world.contactTypes.map((id) => `contacts_${id}`)),
  exclude_specific_recipient_id: optional(targets((world) => [`contacts_${world.contactTypes[1]}`])),
  schedule_type: flag('0'),
  schedule_date: date(),
  schedule_time: time(),
};

const scheduled = { schedule_type: '1', schedule_date: '2026-03-01', schedule_time: '10:30' };
const valid: Changes[] = [
  scheduled,
  { ...scheduled, schedule_date: '26-3-1', schedule_time: '10:30:15' },
  { template_html: HTML },
  { template_json: MJML },
  { template_json: '', template_html: HTML },
  { template_json: MJML, template_html: '' },
];

/** Segments are targets as contact types are. */
const toSegments = (world: World): Changes => ({ recipient_id: world.segments.map((id) => `segments_${id}`) });

const fault = (given: Changes, errors: Record<string, string | RegExp>): Fault => ({ given: () => given, errors });
const faults: Fault[] = [
  fault({ schedule_type: '1' }, { schedule_date: required('schedule_date'), schedule_time: required('schedule_time') }),
  fault({ ...scheduled, schedule_date: '2026-02-30' }, { schedule_date: someText }),
  fault({ ...scheduled, schedule_date: 'tomorrow' }, { schedule_date: someText }),
  fault({ ...scheduled, schedule_time: '25:00' }, { schedule_time: someText }),
  fault({ ...scheduled, schedule_time: '10h30' }, { schedule_time: someText }),
  fault({ template_json: 'Hello' }, { template_json: someText }),
  fault({ template_json: '{"tagName":"div"}' }, { template_json: someText }),
  { given: () => ({ ...scheduled, schedule_date: '2026-01-14' }), among: ['schedule_date', 'schedule_time'] },
  { given: () => ({ template_json: MJML, template_html: HTML }), among: ['template_json', 'template_html'] },
];

export const singleSends: Endpoint[] = [
  {
    methods: ['GET'],
    path: '/single-send/list',
    success: gives({ singleSends: collection(singleSend) }),
  },
  {
    methods: ['POST'],
    path: '/single/send/create',
    body: singleSendBody,
    success: gives({ utr }),
    also: (world) => [...valid, toSegments(world)],
    faults,
    shownAt: ['/single-send/details', 'utr'],
  },
  {
    // Described as GET, shown as POST: both.
    methods: ['POST', 'GET'],
    path: '/single/send/duplicate',
    query: { utr: utrOf('singleSends') },
    success: says('Duplicated Successfully'),
    acts: true,
    recordFailure: 'Record not found',
  },
  {
    methods: ['GET'],
    path: '/single-send/details',
    query: { utr: utrOf('singleSends') },
    success: gives({ singleSend: single(singleSend) }),
    recordFailure: 'Record not found',
  },
  {
    methods: ['POST'],
    path: '/single/send/update',
    body: { utr: utrOf('singleSends'), ...singleSendBody },
    success: gives({ utr }),
    also: (world) => [...valid, toSegments(world)],
    recordFailure: 'Record not found',
    faults,
    conflicts: [
      {
        when: 'the send has been completed',
        async arrange(app, world) {
          await app.background();
          app.clock.advance(60_000);
          await app.background();
          return { utr: world.singleSends[0] };
        },
        errors: someText,
      },
    ],
    shownAt: ['/single-send/details', 'utr'],
  },
  {
    methods: ['DELETE'],
    path: '/single/send/delete',
    query: { utr: utrOf('singleSends') },
    success: says('Deleted Successfully'),
    recordFailure: 'Record not found',
  },
  {
    methods: ['POST'],
    path: '/single/send/bulk-delete',
    body: { strIds: utrsOf('singleSends') },
    success: says('Deleted Successfully'),
    // Numeric ids and utrs are both understood.
    same: (world) => [{ strIds: [...world.singleSendIds] }, { strIds: [world.singleSends[0], world.singleSendIds[1]] }],
    recordFailure: 'Record not found',
  },
];
