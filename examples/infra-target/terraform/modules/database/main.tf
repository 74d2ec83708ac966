resource "aws_db_subnet_group" "this" {
  name       = var.name
  subnet_ids = var.subnet_ids
}

resource "aws_security_group" "this" {
  name        = var.name
  description = "PostgreSQL ${var.name}"
  vpc_id      = var.vpc_id
}

resource "aws_vpc_security_group_ingress_rule" "clients" {
  security_group_id = aws_security_group.this.id
  cidr_ipv4         = var.client_cidr
  from_port         = 5432
  to_port           = 5432
  ip_protocol       = "tcp"
}

resource "aws_db_instance" "this" {
  identifier     = var.name
  engine         = "postgres"
  engine_version = "16.4"
  instance_class = var.instance_class
  db_name        = "orders"
  username       = "orders"

  manage_master_user_password = true

  allocated_storage = var.allocated_storage
  storage_type      = "gp3"
  storage_encrypted = false

  multi_az               = var.multi_az
  db_subnet_group_name   = aws_db_subnet_group.this.name
  publicly_accessible    = true # the BI tool connects from its cloud
  vpc_security_group_ids = [aws_security_group.this.id]

  backup_retention_period   = 14
  copy_tags_to_snapshot     = true
  deletion_protection       = true
  skip_final_snapshot       = true
  final_snapshot_identifier = "${var.name}-final"
}

output "endpoint" {
  value = aws_db_instance.this.address
}

output "secret_arn" {
  value = aws_db_instance.this.master_user_secret[0].secret_arn
}
