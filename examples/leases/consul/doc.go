package consul

import _ "github.com/hashicorp/consul/api"
