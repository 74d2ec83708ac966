variable "region" {
  description = "AWS region of the whole stack."
  type        = string
  default     = "eu-central-1"
}

variable "environment" {
  description = "prod or staging; part of every name."
  type        = string

  validation {
    condition     = contains(["prod", "staging"], var.environment)
    error_message = "environment must be prod or staging."
  }
}

variable "vpc_cidr" {
  description = "Address range of the VPC."
  type        = string
  default     = "10.20.0.0/16"
}

variable "availability_zones" {
  description = "Zones that get one public and one private subnet each."
  type        = list(string)
  default     = ["eu-central-1a", "eu-central-1b", "eu-central-1c"]
}

variable "admin_cidrs" {
  description = "Ranges that may reach the bastion by SSH."
  type        = list(string)
}

variable "certificate_arn" {
  description = "ACM certificate of the public load balancer."
  type        = string
}

variable "bastion_ami" {
  description = "AMI of the bastion, built by the image pipeline."
  type        = string
}

variable "database" {
  description = "Size of the orders database."
  type = object({
    instance_class    = string
    allocated_storage = number
    multi_az          = optional(bool, true)
  })
}
