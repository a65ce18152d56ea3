import type { Input, Method, OperationId, Output } from '@dure/client';
import { useQueryClient } from '@tanstack/react-query';
import { toast } from 'react-hot-toast/headless';
import { dure } from '../api.ts';

type Change = <Id extends OperationId>(method: Method<Id>, input: Input<Id>) => Promise<Output<Id>>;

/** Changes something with any operation, shows the service's text about it, and reads again what is shown. */
export function useChange(): Change {
  const queries = useQueryClient();
  return async ({ operation }, input) => {
    const { data, message } = await dure.request(operation, input);
    toast(message);
    void queries.invalidateQueries({ queryKey: ['dure'] });
    return data;
  };
}
