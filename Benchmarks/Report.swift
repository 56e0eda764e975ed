import Glibc
import StrictJSON

/// The results of a run, printed as a table and optionally written as JSON.
struct Report {
    private var measurements: [Measurement] = []

    /// Adds a measurement and prints its row immediately.
    mutating func add(_ measurement: Measurement) {
        if measurements.isEmpty {
            print(Self.row("workload", "rate", "CPU/op", "vs. baseline", "target"))
        }
        measurements.append(measurement)
        let ratio = ratio(of: measurement)
        print(
            Self.row(
                measurement.name,
                "\(Self.grouped(measurement.rate)) \(measurement.unit)s/s",
                "\(Self.decimal(measurement.processorMicroseconds, digits: 1)) µs",
                ratio.map { "\(Self.decimal($0, digits: 2)) ×" } ?? "",
                measurement.target.map { "\(Self.decimal($0.ratio, digits: 2)) × \($0.baseline)" } ?? ""
            )
        )
        for quantity in measurement.quantities {
            let maximum = quantity.maximum.map { "max. \(Self.decimal($0, digits: 2)) \(quantity.unit)" } ?? ""
            print(Self.row("  " + quantity.name, "\(Self.decimal(quantity.value, digits: 2)) \(quantity.unit)", "", "", maximum))
        }
    }

    /// Writes the results to a file as JSON: `{"measurements": [{"name", "rate", …}]}`.
    func write(to path: String) throws {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("measurements")
        writer.beginArray()
        for measurement in measurements {
            writer.beginObject()
            writer.key("name")
            writer.string(measurement.name)
            writer.key("unit")
            writer.string(measurement.unit)
            writer.key("operations")
            writer.integer(Int64(measurement.operations))
            writer.key("seconds")
            writer.double(measurement.elapsed / .seconds(1))
            writer.key("rate")
            writer.double(measurement.rate)
            writer.key("processorMicroseconds")
            writer.double(measurement.processorMicroseconds)
            if let target = measurement.target, let ratio = ratio(of: measurement) {
                writer.key("limit")
                writer.string(target.baseline)
                writer.key("ofLimit")
                writer.double(ratio)
                writer.key("aim")
                writer.double(target.ratio)
            }
            if !measurement.quantities.isEmpty {
                writer.key("quantities")
                writer.beginArray()
                for quantity in measurement.quantities { quantity.write(to: &writer) }
                writer.endArray()
            }
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        try RawFileIO.write(writer.bytes + [UInt8(ascii: "\n")], to: path)
    }

    /// Returns the ratio of the rate to that of the baseline; `nil` if there is none or it was not measured.
    private func ratio(of measurement: Measurement) -> Double? {
        guard let target = measurement.target else { return nil }
        return measurements.last { $0.name == target.baseline }.map { measurement.rate / $0.rate }
    }

    private static func row(_ name: String, _ rate: String, _ processor: String, _ ratio: String, _ target: String) -> String {
        pad(name, 44) + pad(rate, 24) + pad(processor, 12) + pad(ratio, 14) + target
    }

    private static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }

    /// Returns a number with a limited number of digits after the decimal point.
    static func decimal(_ value: Double, digits: Int) -> String {
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        return "\((value * scale).rounded() / scale)"
    }

    /// Returns a rounded number with separators of thousands.
    static func grouped(_ value: Double) -> String {
        let digits = Array("\(Int(value.rounded()))")
        return String(
            digits.enumerated().flatMap { offset, digit in
                offset > 0 && (digits.count - offset).isMultiple(of: 3) ? [",", digit] : [digit]
            }
        )
    }
}

extension Measurement.Quantity {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("name")
        writer.string(name)
        writer.key("value")
        writer.double(value)
        writer.key("unit")
        writer.string(unit)
        if let maximum {
            writer.key("maximum")
            writer.double(maximum)
        }
        writer.endObject()
    }
}
