/** What Redis holds of a job: everything else about it is Postgres's to say. */
export interface JobData {
  job_id: string;
}
