import type { Environment } from './environment.ts';

/**
 * The bucket of the pictures; undefined for the disk.
 *
 * @param problems gets one line for each variable that is missing
 */
export function readPictureStore(environment: Environment, problems: string[]) {
  const { S3_BUCKET: bucket, S3_ENDPOINT: endpoint, S3_REGION: region } = environment;
  const { S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = environment;
  if (bucket === undefined) {
    const others = ['S3_ENDPOINT', 'S3_REGION', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'] as const;
    const given = others.filter((name) => environment[name] !== undefined);
    if (given.length > 0) problems.push(`S3_BUCKET must be set with ${given.join(', ')}`);
    return undefined;
  }
  if (!environment.MEDIA_BASE_URL) {
    problems.push('MEDIA_BASE_URL must be set with S3_BUCKET: the URL under which browsers find the bucket');
  }
  if (region === undefined && endpoint === undefined) {
    problems.push('S3_REGION must be set with S3_BUCKET, unless S3_ENDPOINT is');
  }
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined)) {
    problems.push('S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY must be set together, or neither');
  }
  const credentials = accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : undefined;
  return { bucket, endpoint, region: region ?? 'us-east-1', credentials };
}
