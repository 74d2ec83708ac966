environment = "prod"
vpc_cidr    = "10.20.0.0/16"

# Office Berlin and the VPN
admin_cidrs = [
  "192.0.2.0/24",
  "198.51.100.17/32",
]

bastion_ami     = "ami-0123456789abcdef0"
certificate_arn = "arn:aws:acm:eu-central-1:123456789012:certificate/00000000-0000-4000-8000-000000000001"

database = {
  instance_class    = "db.r7g.large"
  allocated_storage = 200
  multi_az          = true
}
