import DocumentModel
import HearthAPI

/// The charts of a server's activity in a span of time.
struct ActivityCharts {
    private let samples: [ActivitySample?]
    /// The samples of the rows of tables: several slots in one.
    private let rows: [ActivitySample?]
    private let axis: ChartView.TimeAxis

    /// The number of slots in a row of a table.
    private static let slotsPerRow: Int64 = 6

    /// - Parameter samples: The samples of all slots of the span, oldest first; `nil` where the server did not run.
    init(_ samples: [ActivitySample?], span: ActivityHistory.Span, now: Timestamp) {
        self.samples = samples
        let last = now.microseconds / 1_000_000 / span.slotSeconds * span.slotSeconds
        let start = last - Int64(samples.count - 1) * span.slotSeconds
        // Rows begin at round times, so that they stay the same while time goes on.
        let rowSeconds = span.slotSeconds * Self.slotsPerRow
        var rows: [ActivitySample?] = []
        var rowStarts: [Int64] = []
        for (index, sample) in samples.enumerated() {
            let time = start + Int64(index) * span.slotSeconds
            let rowStart = time - time % rowSeconds
            if rowStarts.last != rowStart {
                rowStarts.append(rowStart)
                rows.append(nil)
            }
            guard let sample else { continue }
            rows[rows.count - 1] = rows[rows.count - 1]?.merged(with: sample) ?? sample
        }
        self.rows = rows
        axis = ChartView.TimeAxis(
            start: start,
            slotSeconds: span.slotSeconds,
            slotCount: samples.count,
            rowStarts: rowStarts,
            showsDays: span == .week
        )
    }

    /// The charts in the order of the page.
    var all: [ChartView] {
        [
            chart("reads", localized("Reads per second"), .rate, [rate(localized("Reads"), \.reads)]),
            chart("writes", localized("Writes per second"), .rate, [rate(localized("Writes"), \.writes)]),
            chart("queries", localized("Queries per second"), .rate, [rate(localized("Queries"), \.queries)]),
            chart(
                "errors",
                localized("Failed calls per second"),
                .rate,
                [
                    series(localized("Rejected")) { max(0, $0.rate(\.failures) - $0.rate(\.serverErrors)) },
                    rate(localized("Server errors"), \.serverErrors),
                ]
            ),
            chart(
                "latency",
                localized("Call duration"),
                .seconds,
                [0.5, 0.95, 0.99].map { quantile in
                    series("p\(Int((quantile * 100).rounded()))") { $0.counts.latencies.quantile(quantile) }
                },
                note: localized("Percentiles are estimated from counts by duration.")
            ),
            chart(
                "streams",
                localized("Open streams"),
                .count,
                [gauge(localized("Streams"), \.streams), gauge(localized("Listeners"), \.targets)],
                note: localized("Listeners are the documents and queries of streams that have several.")
            ),
            chart(
                "storage",
                localized("Storage"),
                .bytes,
                [gauge(localized("Documents"), \.documentBytes), gauge(localized("Journal"), \.journalBytes)],
                note: localized("Of the default database, and of the others while they are open.")
            ),
            chart("disk", localized("Free disk space"), .bytes, [gauge(localized("Free"), \.freeBytes)]),
        ]
    }

    private func rate(_ name: String, _ events: KeyPath<ActivityCounts, UInt64>) -> ChartSeries {
        series(name) { $0.rate(events) }
    }

    private func gauge(_ name: String, _ gauge: KeyPath<ActivityGauges, Int?>) -> ChartSeries {
        series(name) { $0.gauges[keyPath: gauge].map(Double.init) }
    }

    private func series(_ name: String, _ value: (ActivitySample) -> Double?) -> ChartSeries {
        ChartSeries(
            name: name,
            values: samples.map { $0.flatMap(value) },
            latest: samples.last { $0 != nil }.flatMap(\.self).flatMap(value),
            rows: rows.map { $0.flatMap(value) }
        )
    }

    private func chart(
        _ id: String,
        _ title: String,
        _ unit: ChartUnit,
        _ series: [ChartSeries],
        note: String? = nil
    ) -> ChartView {
        ChartView(id: id, title: title, unit: unit, series: series, axis: axis, note: note)
    }
}

/// The values of a line in a chart. What is unknown is `nil`.
struct ChartSeries {
    let name: String
    /// The values of all slots, oldest first.
    let values: [Double?]
    /// The value of the latest slot in which the server ran.
    let latest: Double?
    /// The values of the rows of the table, oldest first.
    let rows: [Double?]
}
