import HearthAPI

/// A bar chart of the commits per second in the last ten minutes.
struct RateChart: Sendable {
    private let bars: [Double]
    private let recent: Double
    private let peak: Double

    /// Creates the chart; returns nil before the first interval is complete.
    init?(_ rates: CommitRates.Rates) {
        guard !rates.perInterval.isEmpty else { return nil }
        bars = rates.perInterval
        recent = rates.recent
        peak = bars.max() ?? 0
    }

    /// The bars as the data of one SVG path, 60 wide and 20 high, the latest last.
    private var path: String {
        let first = 60 - bars.count
        return bars.enumerated().filter { $0.element > 0 }.map { index, rate in
            let height = max(1, Int((20 * rate / peak).rounded()))
            return "M\(first + index).5 20v-\(height)"
        }
        .joined()
    }

    private static func text(of rate: Double) -> String {
        rate >= 10 || rate == rate.rounded()
            ? NumberFormat.grouped(Int(rate.rounded())) : ((rate * 10).rounded() / 10).description
    }
}

extension RateChart: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "path": path
        case "summary":
            localized(
                "Commits per second: {recent} in the last minute, peak {most} in the last ten minutes",
                ["recent": Self.text(of: recent), "most": Self.text(of: peak)]
            )
        default: nil
        }
    }
}
