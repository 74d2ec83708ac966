output "edge_dns_name" {
  description = "Name that the public DNS record points to."
  value       = aws_lb.edge.dns_name
}

output "vpc_id" {
  description = "For the peering of other stacks."
  value       = module.vpc.vpc_id
}

output "database_endpoint" {
  description = "Host name of the orders database."
  value       = module.database.endpoint
}

output "database_secret_arn" {
  description = "Secrets Manager entry with the database's credentials."
  value       = module.database.secret_arn
}

output "assets_bucket" {
  description = "Bucket that the release pipeline uploads to."
  value       = aws_s3_bucket.assets.bucket
}
