package lanes

//go:generate go run -C _gen . -family gemm -pkg lanes -out ../gemm_amd64.s -stubs ../gemm_stubs_amd64.go
//go:generate go run -C _gen . -family dot -pkg lanes -out ../dot_amd64.s -stubs ../dot_stubs_amd64.go
//go:generate go run -C _gen . -family activation -pkg lanes -out ../activation_amd64.s -stubs ../activation_stubs_amd64.go
//go:generate go run -C _gen . -family loss -pkg lanes -out ../loss_amd64.s -stubs ../loss_stubs_amd64.go
//go:generate go run -C _gen . -family layout -pkg lanes -out ../layout_amd64.s -stubs ../layout_stubs_amd64.go
//go:generate go run -C _gen . -family density -pkg lanes -out ../density_amd64.s -stubs ../density_stubs_amd64.go
//go:generate go run -C _gen . -family philox -pkg lanes -out ../philox_amd64.s -stubs ../philox_stubs_amd64.go
//go:generate go run -C _gen . -family leapfrog -pkg lanes -out ../leapfrog_amd64.s -stubs ../leapfrog_stubs_amd64.go
//go:generate go run -C _gen . -family predicted -pkg lanes -out ../predicted_amd64.s -stubs ../predicted_stubs_amd64.go
//go:generate go run -C _gen . -family affine -pkg lanes -out ../affine_amd64.s -stubs ../affine_stubs_amd64.go
