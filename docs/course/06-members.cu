// Particles as an array of structs, and as a struct of arrays: one member of each is wanted.

struct particle {
    float x, y, z, mass;
};

__global__ void structs(float *out, const particle *in)
{
    __shared__ particle s[256];
    int t = threadIdx.x;
    s[t].mass = in[t].mass;
    __syncthreads();
    out[t] = s[255 - t].mass;
}

__global__ void arrays(float *out, const float *mass)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = mass[t];
    __syncthreads();
    out[t] = s[255 - t];
}
