variable "name" {
  description = "Identifier of the instance and prefix of everything beside it."
  type        = string
}

variable "vpc_id" {
  type = string
}

variable "subnet_ids" {
  description = "Private subnets, at least two."
  type        = list(string)
}

variable "client_cidr" {
  description = "Range that may connect to port 5432."
  type        = string
}

variable "instance_class" {
  type = string
}

variable "allocated_storage" {
  description = "GiB"
  type        = number
}

variable "multi_az" {
  type    = bool
  default = true
}
