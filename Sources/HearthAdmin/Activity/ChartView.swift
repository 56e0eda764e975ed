import DocumentModel

/// A line chart over time, drawn as SVG, with its values as a table. Where there is no value, the line has a gap.
struct ChartView: ViewModel {
    /// A line with its name and its latest and highest values.
    struct Line: ViewModel {
        let name: String
        /// The style of the line: 1, 2 or 3.
        let style: Int
        /// The line as the data of an SVG path.
        let path: String
        /// The area below the line as the data of an SVG path; `nil` in charts with several lines.
        let area: String?
        let latest: String
        let peak: String
    }

    /// A row of the table, with a cell for each line.
    struct Row: ViewModel {
        let time: TimeView
        let cellsMarkup: Markup
    }

    /// The times of a chart.
    struct TimeAxis {
        /// The beginning of the first slot in Unix time.
        let start: Int64
        let slotSeconds: Int64
        let slotCount: Int
        /// The beginnings of the rows of the table, oldest first.
        let rowStarts: [Int64]
        /// True if labels have days instead of times of day.
        let showsDays: Bool
    }

    private let id: String
    private let title: String
    private let summary: String
    private let lines: [Line]
    /// The width of the coordinate system: the number of slots. It is 100 high.
    private let width: Int
    private let grid: String
    private let limitText: String
    private let middleText: String
    private let zeroText = NumberFormat.grouped(0)
    private let ticksMarkup: Markup
    private let headings: [String]
    private let rows: [Row]
    private let note: String?

    init(id: String, title: String, unit: ChartUnit, series: [ChartSeries], axis: TimeAxis, note: String?) {
        (self.id, self.title, self.note) = (id, title, note)
        let limit = unit.limit(above: series.flatMap(\.values).compactMap(\.self).max() ?? 0)
        width = axis.slotCount
        grid = [0, 50, 100].map { "M0 \($0)h\(axis.slotCount)" }.joined()
        limitText = unit.text(limit)
        middleText = unit.text(limit / 2)
        let isAlone = series.count == 1
        lines = series.enumerated().map { index, series in
            let values = series.values
            return Line(
                name: series.name,
                style: index + 1,
                path: Self.path(values, limit: limit),
                area: isAlone ? Self.area(values, limit: limit) : nil,
                latest: series.latest.map(unit.text) ?? "–",
                peak: values.compactMap(\.self).max().map(unit.text) ?? "–"
            )
        }
        summary = lines.map { line in
            localized("{name}: latest {latest}, peak {peak}.", ["name": line.name, "latest": line.latest, "peak": line.peak])
        }
        .joined(separator: " ")
        ticksMarkup = Self.ticks(axis)
        headings = series.map(\.name)
        rows = Self.rows(series, unit: unit, axis: axis)
    }
}

extension ChartView {
    /// Returns the runs of consecutive values as the points of lines, scaled to a height of 100.
    private static func runs(_ values: [Double?], limit: Double) -> [[(x: Int, y: String)]] {
        var runs: [[(x: Int, y: String)]] = []
        var previous: Double?
        for (index, value) in values.enumerated() {
            if let value {
                if previous == nil { runs.append([]) }
                let tenths = Int((1_000 * (1 - min(value / limit, 1))).rounded())
                let y = tenths.isMultiple(of: 10) ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
                runs[runs.count - 1].append((index, y))
            }
            previous = value
        }
        return runs
    }

    private static func path(_ values: [Double?], limit: Double) -> String {
        runs(values, limit: limit).map { run in
            // A single value is a dot.
            let points = run.count == 1 ? run + run : run
            return "M" + points.map { "\($0.x).5 \($0.y)" }.joined(separator: "L")
        }
        .joined()
    }

    private static func area(_ values: [Double?], limit: Double) -> String {
        runs(values, limit: limit).filter { $0.count > 1 }.map { run in
            "M\(run[0].x).5 100L" + run.map { "\($0.x).5 \($0.y)" }.joined(separator: "L") + "V100z"
        }
        .joined()
    }

    /// The labels below a chart: five times at equal distances, or every second midnight.
    private static func ticks(_ axis: TimeAxis) -> Markup {
        let length = Int64(axis.slotCount) * axis.slotSeconds
        let days: Int64 = 2 * 86_400
        let times =
            axis.showsDays
            ? Array(stride(from: (axis.start + days - 1) / days * days, through: axis.start + length, by: Int(days)))
            : (0...4).map { axis.start + length * $0 / 4 }
        return Markup { markup in
            markup.lines(times) { time, markup in
                let permille = (time - axis.start) * 1_000 / length
                let view = TimeView(unixSeconds: time)
                markup.raw(#"<text y="1em" x=""#)
                markup.text("\(permille / 10).\(permille % 10)%")
                markup.raw(#"" text-anchor=""#)
                markup.text(permille < 50 ? "start" : permille > 950 ? "end" : "middle")
                markup.raw(#"">"#)
                markup.text(axis.showsDays ? view.monthAndDay : view.minute)
                markup.raw("</text>")
            }
        }
    }

    /// The rows of the table, the latest first. Times without any value have none.
    private static func rows(_ series: [ChartSeries], unit: ChartUnit, axis: TimeAxis) -> [Row] {
        axis.rowStarts.indices.reversed().compactMap { index in
            let values = series.map { $0.rows[index] }
            guard values.contains(where: { $0 != nil }) else { return nil }
            return Row(
                time: TimeView(unixSeconds: axis.rowStarts[index]),
                cellsMarkup: Markup { markup in
                    for value in values {
                        markup.raw(#"<td class="numeric">"#)
                        markup.text(value.map(unit.text) ?? "–")
                        markup.raw("</td>")
                    }
                }
            )
        }
    }
}

extension TimeView {
    /// Creates the view of a Unix time. One that no timestamp can have is shown as the first one.
    fileprivate init(unixSeconds: Int64) {
        self.init((try? Timestamp(microseconds: unixSeconds * 1_000_000)) ?? .minimum)
    }

    /// The time of day in UTC without seconds: `08:00`.
    fileprivate var minute: String { String(brief.dropFirst(11).prefix(5)) }

    /// The month and the day: `09-09`.
    fileprivate var monthAndDay: String { String(day.dropFirst(5)) }
}
