/** Contacts and their CSV files. */
import { someText, taken } from './errors.ts';
import { email, file, gives, line, optional, record, records, reference, says, shared } from './parameters.ts';
import { contact, listedContact, SAMPLE_HEADER } from './records.ts';
import { collection } from './shapes.ts';
import type { Endpoint } from './types.ts';

const contactBody = {
  contact_type_id: reference('contactTypes'),
  first_name: optional(line('Nora')),
  last_name: optional(line('New')),
  email: email('Nora@Guest.example'),
  country: shared('1'),
  state: optional(line('Upper State')),
  city: optional(line('Old Town')),
  address_line1: optional(line('High Street 1')),
  address_line2: optional(line('Second floor')),
  state_province_region: optional(line('North')),
  postal_code: optional(line('0123 AB')),
};

export const contacts: Endpoint[] = [
  {
    methods: ['GET'],
    path: '/contacts/list',
    success: gives({ contacts: collection(listedContact) }),
  },
  {
    methods: ['POST'],
    path: '/contacts/add',
    body: contactBody,
    success: says('Contact Added Successfully'),
    // The same person may be in another type.
    also: (world) => [{ email: world.emails[0], contact_type_id: world.contactTypes[1] }],
    faults: [
      { given: (world) => ({ email: world.emails[0] }), errors: { email: taken('email') } },
      { given: (world) => ({ email: world.emails[0].toUpperCase() }), errors: { email: taken('email') } },
    ],
    shownAt: ['/contacts/details', 'contact_id'],
  },
  {
    methods: ['GET'],
    path: '/contacts/csv-sample/download',
    success: { csv: { filename: 'contacts-sample.csv', header: SAMPLE_HEADER } },
  },
  {
    methods: ['POST'],
    path: '/contacts/upload-csv',
    body: {
      contact_type_id: reference('contactTypes'),
      file: file({ filename: 'people.csv', content: 'email,first_name\nnora@guest.example,Nora\n', type: 'text/csv' }),
    },
    success: says('Imported Successfully'),
    also: () => [{ file: { filename: 'PEOPLE.CSV', content: 'Email;First Name\r\nnora@guest.example;Nora' } }],
    faults: [
      {
        given: () => ({ file: { filename: 'people.txt', content: 'email\nnora@guest.example\n' } }),
        errors: { file: someText },
      },
      { given: () => ({ file: { filename: 'people.csv', content: 'email\nnobody\n' } }), among: ['file'] },
      { given: () => ({ file: 'email\nnora@guest.example\n' }), errors: { file: someText } },
    ],
  },
  {
    methods: ['GET'],
    path: '/contacts/details',
    query: { contact_id: record('contacts') },
    success: gives({ contact }),
    recordFailure: 'Record Not Found',
  },
  {
    methods: ['POST'],
    path: '/contacts/update',
    body: { contact_id: record('contacts'), ...contactBody },
    success: says('Contact Updated Successfully'),
    also: (world) => [{ email: world.emails[0] }, { contact_type_id: world.contactTypes[1] }],
    recordFailure: 'Record Not Found',
    faults: [{ given: (world) => ({ email: world.emails[1] }), errors: { email: taken('email') } }],
    shownAt: ['/contacts/details', 'contact_id'],
  },
  {
    methods: ['DELETE'],
    path: '/contacts/delete',
    query: { contact_id: record('contacts') },
    success: says('Deleted Successfully'),
    recordFailure: 'Record Not Found',
  },
  {
    methods: ['POST'],
    path: '/contacts/bulk-delete',
    body: { strIds: records('contacts') },
    success: says('Deleted Successfully'),
    recordFailure: 'Record Not Found',
  },
];
