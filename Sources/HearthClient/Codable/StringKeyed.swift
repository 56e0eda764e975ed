/// Marks the dictionaries whose keys are field names, and so data that no key strategy may change.
protocol StringKeyed {}

extension Dictionary: StringKeyed where Key == String {}
