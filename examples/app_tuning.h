/* Tuning records for clayer: hand app_tuning to clayer_tuning_ship. Written by clayer; a record a line. */
static const char *const app_tuning[] = {
    "{\"schema\": \"clayer-tuning/1\", \"devices\": [\n",
    "{\"device\": {\"platform\": \"Portable Computing Language\", \"vendor\": \"GenuineIntel\", \"name\": \"pthread-skylake-avx512-Intel Xeon Processor\", \"compute_units\": 2, \"max_work_group_size\": 4096, \"local_memory_bytes\": 2097152}, \"records\": [\n",
    "{\"layer\": \"64x256x128\", \"plan\": \"host\", \"types\": \"f32,f32,f32,f32\", \"bias\": true, \"costly\": false, \"aligned\": true, \"ns\": 25648, \"spread_ns\": 772, \"default_ns\": 25648, \"clblast_ns\": 1268522, \"candidates\": 8, \"effort\": \"quick\", \"when\": \"2026-11-30T18:44:52Z\", \"driver\": \"3.1+debian\", \"library\": \"0.1.0\", \"kernel\": \"330df30ecd7f264d\", \"check\": \"adaa7d5b28e10505\"}\n",
    "]}\n",
    "]}\n",
    0,
};
