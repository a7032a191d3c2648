# Writes the files of this folder: python make.py FOLDER, with pyarrow 26.
import pyarrow as pa, pyarrow.parquet as pq, csv, math, sys, datetime, decimal, random
out=sys.argv[1]
r=random.Random(1)
n=57
words=['oak','ash','a "quoted" elm','läs,ch','', ' b ']
cols={
 'i8':pa.array([r.randrange(-128,128) for _ in range(n)],pa.int8()),
 'u8':pa.array([r.randrange(0,256) for _ in range(n)],pa.uint8()),
 'i32':pa.array([None if i%9==4 else r.randrange(-2**31,2**31) for i in range(n)],pa.int32()),
 'u32':pa.array([r.randrange(0,2**32) for _ in range(n)],pa.uint32()),
 'i64':pa.array([r.randrange(-2**62,2**62) for _ in range(n)],pa.int64()),
 'u64':pa.array([2**64-1-i for i in range(n)],pa.uint64()),
 'f32':pa.array([None if i%7==3 else r.gauss(0,1) for i in range(n)],pa.float32()),
 'f64':pa.array([math.nan if i==5 else math.inf if i==6 else -math.inf if i==7 else None if i==8 else r.gauss(0,1)*10**r.randrange(-300,300) for i in range(n)],pa.float64()),
 'same':pa.array([3.0]*n,pa.float64()),
 'none':pa.array([None]*n,pa.null()),
 'word':pa.array([None if i%11==6 else words[r.randrange(6)] for i in range(n)],pa.string()),
}
t=pa.table(cols)
def cell(v):
    if v is None: return ''
    if isinstance(v,float): return repr(v)
    return str(v)
with open(out+'/table.csv','w',newline='') as f:
    w=csv.writer(f,lineterminator='\n',quoting=csv.QUOTE_ALL); w.writerow(t.column_names)
    for row in zip(*[c.to_pylist() for c in t.columns]): w.writerow([cell(v) for v in row])
pq.write_table(t,out+'/plain.parquet',compression='none',use_dictionary=False,row_group_size=20,store_schema=False)
pq.write_table(t,out+'/snappy_v2.parquet',compression='snappy',data_page_version='2.0',data_page_size=64,store_schema=False,write_page_index=True)
pq.write_table(t,out+'/zstd.parquet',compression='zstd',row_group_size=25,store_schema=False,write_page_checksum=True)
pq.write_table(t,out+'/gzip_v2.parquet',compression='gzip',data_page_version='2.0',row_group_size=1000,store_schema=False)
pq.write_table(t,out+'/lz4.parquet',compression='lz4',row_group_size=50,store_schema=False)
pq.write_table(t,out+'/brotli.parquet',compression='brotli',row_group_size=50,store_schema=False)
enc={k:('DELTA_BINARY_PACKED' if k[0] in 'iu' else 'BYTE_STREAM_SPLIT' if k[0]=='f' else 'DELTA_LENGTH_BYTE_ARRAY' if k=='word' else 'PLAIN') for k in cols}
pq.write_table(t,out+'/delta.parquet',compression='none',use_dictionary=False,column_encoding=enc,store_schema=False)
bad={
 'nested':pa.array([{'a':1}]*3), 'list':pa.array([[1,2]]*3), 'decimal':pa.array([decimal.Decimal('1.5')]*3,pa.decimal128(5,2)),
 'date':pa.array([datetime.date(2020,1,1)]*3), 'time':pa.array([datetime.datetime(2020,1,1)]*3,pa.timestamp('us')), 'bytes':pa.array([b'x']*3,pa.binary()), 'half':pa.array([1.0,2.0,3.0],pa.float16()),
}
good={'x':pa.array([1.0,2.0,4.0]),'flag':pa.array([True,None,False]),'y':pa.array(['a','b','a'])}
pq.write_table(pa.table({**good,**bad}),out+'/types.parquet',compression='none',store_schema=False)
