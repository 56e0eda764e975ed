import HearthService

/// The commits per second of the last minutes as a row of bars.
struct RateChart: Sendable {
    private let bars: [Double]
    private let recent: Double
    private let most: Double

    /// Draws the rates; nil before there are any.
    init?(_ rates: CommitRates.Rates) {
        guard !rates.perInterval.isEmpty else { return nil }
        bars = rates.perInterval
        recent = rates.recent
        most = bars.max() ?? 0
    }

    /// The bars as the data of one path, 60 wide and 20 high, the latest at the end.
    private var path: String {
        let first = 60 - bars.count
        return bars.enumerated().filter { $0.element > 0 }.map { index, rate in
            let height = max(1, Int((20 * rate / most).rounded()))
            return "M\(first + index).5 20v-\(height)"
        }
        .joined()
    }

    private static func text(of rate: Double) -> String {
        rate >= 10 || rate == rate.rounded() ? Counting.grouped(Int(rate.rounded())) : ((rate * 10).rounded() / 10).description
    }
}

extension RateChart: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "path": path
        case "summary":
            localized(
                "Commits per second: {recent} in the last minute, {most} at most in the last ten minutes",
                ["recent": Self.text(of: recent), "most": Self.text(of: most)]
            )
        default: nil
        }
    }
}
