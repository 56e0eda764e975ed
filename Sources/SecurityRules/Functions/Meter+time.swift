internal import DocumentModel

extension Meter {
    /// Calls a function of a timestamp.
    func callTimestamp(
        _ function: ValueFunction,
        _ timestamp: RuleTimestamp
    ) throws(EvaluationError) -> RuleValue {
        switch function {
        case .date: .timestamp(timestamp.startOfDay)
        case .time: .duration(timestamp.timeOfDay)
        case .year: .integer(Int64(timestamp.date.year))
        case .month: .integer(Int64(timestamp.date.month))
        case .day: .integer(Int64(timestamp.date.day))
        case .dayOfWeek: .integer(timestamp.dayOfWeek)
        case .dayOfYear: .integer(Int64(timestamp.date.dayOfYear))
        case .hours: .integer(timestamp.timeOfDay.seconds / 3_600)
        case .minutes: .integer(timestamp.timeOfDay.seconds / 60 % 60)
        case .seconds: .integer(timestamp.timeOfDay.seconds % 60)
        case .nanos: .integer(timestamp.nanosecondsOfSecond)
        case .toMillis: .integer(timestamp.milliseconds)
        default: throw EvaluationError(.functionNotFound(function.rawValue))
        }
    }

    /// Calls a function of a duration.
    func callDuration(
        _ function: ValueFunction,
        _ duration: RuleDuration
    ) throws(EvaluationError) -> RuleValue {
        switch function {
        case .seconds: .integer(duration.seconds)
        case .nanos: .integer(duration.nanosecondsOfSecond)
        default: throw EvaluationError(.functionNotFound(function.rawValue))
        }
    }

    /// Calls a function of a geographic point.
    func callLatLng(
        _ function: ValueFunction,
        _ point: GeoPoint,
        _ arguments: [RuleValue]
    ) throws(EvaluationError) -> RuleValue {
        switch (function, arguments.first) {
        case (.latitude, _): return .float(point.latitude)
        case (.longitude, _): return .float(point.longitude)
        case (.distance, .latlng(let other)): return .float(point.distance(to: other))
        case (.distance, _): throw unsupported(function, .latlng, arguments, expecting: "latlng")
        default: throw EvaluationError(.functionNotFound(function.rawValue))
        }
    }
}
