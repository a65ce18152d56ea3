/**
 * The enums of the document as TypeScript: a constant with the names of the values, and a type of the same name.
 *
 * @param document whose enums have `x-enum-varnames`, such as `REQUESTED`, which becomes `PartnerRequestStatus.Requested`
 */
export function enums({ components }) {
  return Object.entries(components.schemas)
    .filter(([name, schema]) => schema['x-enum-varnames'] && name !== 'ErrorCode')
    .flatMap(([name, { enum: values, ...schema }]) => [
      `/** ${schema.description} */`,
      `export const ${name} = {`,
      ...values.flatMap((value, index) => [
        `  /** ${schema['x-enum-descriptions'][index]} */`,
        `  ${pascalCase(schema['x-enum-varnames'][index])}: ${JSON.stringify(value)},`,
      ]),
      '} as const;',
      `export type ${name} = (typeof ${name})[keyof typeof ${name}];`,
    ])
    .join('\n');
}

function pascalCase(name) {
  return name.toLowerCase().replace(/(?:^|_)(\w)/g, (_, letter) => letter.toUpperCase());
}
