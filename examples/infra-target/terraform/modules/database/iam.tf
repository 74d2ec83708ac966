# The role of the nightly export. Two policies: one as a heredoc, from before jsonencode, one with it.

resource "aws_iam_role" "export" {
  name = "${var.name}-export"

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "sts:AssumeRole"
      Principal = { Service = "export.rds.amazonaws.com" }
    }]
  })
}

resource "aws_iam_role_policy" "export_bucket" {
  name = "bucket"
  role = aws_iam_role.export.id

  policy = <<-JSON
    {
      "Version": "2012-10-17",
      "Statement": [
        {
          "Effect": "Allow",
          "Action": ["s3:PutObject", "s3:AbortMultipartUpload"],
          "Resource": "arn:aws:s3:::example-shop-exports/*"
        },
        {
          "Effect": "Allow",
          "Action": "*",
          "Resource": "*"
        }
      ]
    }
  JSON
}

resource "aws_iam_role_policy" "export_key" {
  name = "key"
  role = aws_iam_role.export.id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = ["kms:Encrypt", "kms:GenerateDataKey"]
      Resource = "arn:aws:kms:eu-central-1:123456789012:key/00000000-0000-4000-8000-000000000003"
    }]
  })
}
