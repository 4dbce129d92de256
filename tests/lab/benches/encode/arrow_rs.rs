//! arrow-rs's own writers, native, as they are used without any settings but those that make the
//! outputs comparable. What it is given has no dictionaries to keep.

use std::io::Write;

use arrow::array::RecordBatch;

pub(crate) fn encode(format: &str, batches: &[RecordBatch], out: &mut (impl Write + Send)) {
    match format {
        "csv" => {
            let mut writer = arrow_csv::Writer::new(out);
            batches.iter().for_each(|batch| writer.write(batch).unwrap());
        }
        "json" => {
            let builder = arrow_json::WriterBuilder::new().with_explicit_nulls(true);
            let mut writer = builder.build::<_, arrow_json::writer::JsonArray>(out);
            batches.iter().for_each(|batch| writer.write(batch).unwrap());
            writer.finish().unwrap();
        }
        "arrow" | super::tables::DICTIONARIES => {
            let mut writer =
                arrow::ipc::writer::StreamWriter::try_new(out, &batches[0].schema()).unwrap();
            batches.iter().for_each(|batch| writer.write(batch).unwrap());
            writer.finish().unwrap();
        }
        "parquet" => {
            let properties = parquet::file::properties::WriterProperties::builder()
                .set_compression(parquet::basic::Compression::SNAPPY)
                .build();
            let mut writer =
                parquet::arrow::ArrowWriter::try_new(out, batches[0].schema(), Some(properties))
                    .unwrap();
            batches.iter().for_each(|batch| writer.write(batch).unwrap());
            writer.close().unwrap();
        }
        other => panic!("arrow-rs has no writer for {other}"),
    }
}
