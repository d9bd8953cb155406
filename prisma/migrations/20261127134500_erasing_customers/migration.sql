-- A customer that is being erased: like a suspended one, but never active again. The release before knows no such state
-- and refuses its keys all the same.
ALTER TABLE "customers" DROP CONSTRAINT "customers_state_check";
ALTER TABLE "customers" ADD CONSTRAINT "customers_state_check" CHECK ("state" IN ('active', 'suspended', 'erasing'));
