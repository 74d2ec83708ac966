environment = "staging"
vpc_cidr    = "10.30.0.0/16"

# TODO: back to the VPN's range once everybody has the new client
admin_cidrs = ["0.0.0.0/0"]

bastion_ami     = "ami-0123456789abcdef0"
certificate_arn = "arn:aws:acm:eu-central-1:123456789012:certificate/00000000-0000-4000-8000-000000000002"

database = {
  instance_class    = "db.t4g.medium"
  allocated_storage = 20
  multi_az          = false
}
