locals {
  name = "shop-${var.environment}"
}

module "vpc" {
  source = "./modules/vpc"

  name               = local.name
  cidr               = var.vpc_cidr
  availability_zones = var.availability_zones
}

module "database" {
  source = "./modules/database"

  name              = "${local.name}-orders"
  vpc_id            = module.vpc.vpc_id
  subnet_ids        = module.vpc.private_subnet_ids
  client_cidr       = var.vpc_cidr
  instance_class    = var.database.instance_class
  allocated_storage = var.database.allocated_storage
  multi_az          = var.database.multi_az
}

# ---------------------------------------------------------------------------
# Edge: the public load balancer
# ---------------------------------------------------------------------------

resource "aws_security_group" "edge" {
  name        = "${local.name}-edge"
  description = "Public load balancer"
  vpc_id      = module.vpc.vpc_id
}

resource "aws_vpc_security_group_ingress_rule" "edge_https" {
  security_group_id = aws_security_group.edge.id
  description       = "HTTPS from anywhere"
  cidr_ipv4         = "0.0.0.0/0"
  from_port         = 443
  to_port           = 443
  ip_protocol       = "tcp"
}

resource "aws_vpc_security_group_egress_rule" "edge_to_app" {
  security_group_id = aws_security_group.edge.id
  description       = "To the application"
  cidr_ipv4         = var.vpc_cidr
  from_port         = 8080
  to_port           = 8080
  ip_protocol       = "tcp"
}

resource "aws_lb" "edge" {
  name                       = local.name
  load_balancer_type         = "application"
  security_groups            = [aws_security_group.edge.id]
  subnets                    = module.vpc.public_subnet_ids
  drop_invalid_header_fields = true
  enable_deletion_protection = true
}

resource "aws_lb_target_group" "app" {
  name        = "${local.name}-app"
  port        = 8080
  protocol    = "HTTP"
  target_type = "ip"
  vpc_id      = module.vpc.vpc_id

  health_check {
    path = "/healthz"
  }
}

resource "aws_lb_listener" "https" {
  load_balancer_arn = aws_lb.edge.arn
  port              = 443
  protocol          = "HTTPS"
  ssl_policy        = "ELBSecurityPolicy-2016-08"
  certificate_arn   = var.certificate_arn

  default_action {
    type             = "forward"
    target_group_arn = aws_lb_target_group.app.arn
  }
}

# After the first apply somebody had to create the schema.
resource "terraform_data" "migrate" {
  triggers_replace = [module.database.endpoint]

  provisioner "local-exec" {
    command = "psql -h ${module.database.endpoint} -f schema.sql"
  }
}
