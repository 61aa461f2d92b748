/** Reserved and custom fields, dynamic content. */
import { someText, taken } from './errors.ts';
import { choice, gives, line, record, says } from './parameters.ts';
import { customField, DYNAMIC_NAMES, reservedFields } from './records.ts';
import { beginning, collection } from './shapes.ts';
import type { Endpoint } from './types.ts';

export const fields: Endpoint[] = [
  {
    methods: ['GET'],
    path: '/reserve-fields',
    success: gives({ reservedFields }),
  },
  {
    methods: ['GET'],
    path: '/custom-fields',
    success: gives({ customFields: collection(customField) }),
  },
  {
    methods: ['POST'],
    path: '/custom-fields/save',
    body: { field_name: line('Shoe_Size_2'), field_type: choice('text') },
    success: says('Added Successfully'),
    also: () => [{ field_type: 'number' }, { field_type: 'datetime-local' }],
    faults: [
      { given: () => ({ field_name: 'shoe size' }), errors: { field_name: someText } },
      { given: () => ({ field_name: 'größe' }), errors: { field_name: someText } },
      { given: () => ({ field_name: 'first_name' }), errors: { field_name: someText } },
      { given: () => ({ field_name: 'Sender_Address' }), errors: { field_name: someText } },
      { given: () => ({ field_name: '__proto__' }), errors: { field_name: someText } },
      { given: (world) => ({ field_name: world.customNames[0] }), errors: { field_name: taken('field_name') } },
      {
        given: (world) => ({ field_name: world.customNames[0].toUpperCase() }),
        errors: { field_name: taken('field_name') },
      },
    ],
  },
  {
    methods: ['DELETE'],
    path: '/custom-fields/delete',
    query: { id: record('customFields') },
    success: says('Deleted Successfully'),
    recordFailure: 'Record Not Found',
  },
  {
    methods: ['GET'],
    path: '/get-dynamic/content',
    success: gives({ contents: beginning(DYNAMIC_NAMES) }),
  },
];
