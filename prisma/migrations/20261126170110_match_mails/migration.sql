-- Allow enum-value: the release before reads and writes rows of mail_sends by their purpose, and knows none with it.
ALTER TYPE "mail_purpose" ADD VALUE 'saved_search_match';
