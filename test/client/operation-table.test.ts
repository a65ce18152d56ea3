import t from 'tap';

const { operationTable } = await import(
  import.meta.resolve('#package/packages/client/scripts/operation-table.mjs')
);

/** A document with one operation. */
function documentOf(operation: object, path = '/things/{id}/') {
  const answer = {
    description: '',
    content: { 'application/json': { schema: { properties: { data: {} } } } },
  };
  const parameters = [{ in: 'path', name: 'id' }];
  const post = {
    operationId: 'changeThing',
    summary: 'Change',
    parameters,
    responses: { 200: answer },
    ...operation,
  };
  return { paths: { [path]: { post } } };
}

function bodyOf(schema: object, type = 'application/json') {
  return { requestBody: { content: { [type]: { schema } } } };
}

t.test('two inputs with one name are refused, also in one of several bodies', async (t) => {
  const alternatives = bodyOf({ oneOf: [{ properties: { name: {} } }, { properties: { id: {} } }] });
  for (const operation of [bodyOf({ properties: { id: {} } }), alternatives]) {
    t.throws(() => operationTable(documentOf(operation)), /changeThing has two inputs with the name id/);
  }
  t.match(operationTable(documentOf(bodyOf({ properties: { name: {} } }))).table, /"body":"json"/);
});

t.test('what types cannot say is in the table', async (t) => {
  const { table, methods } = operationTable(
    documentOf({
      ...bodyOf({ properties: { image: {} } }, 'multipart/form-data'),
      security: [{ bearer: [] }, {}],
    }),
  );
  t.match(table, 'changeThing: {"method":"POST","path":"/things/{id}/","body":"form","auth":true}');
  t.match(methods, "changeThing: Method<'changeThing'>;");
});

t.test('a comment cannot end early', async (t) => {
  const { methods } = operationTable(documentOf({ description: 'Any */ of them' }));
  t.match(methods, 'Any *\\/ of them');
});
