//! Where values are on an axis, and which of them are written beside it.

/// How an axis is divided.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Scale {
    /// From zero, twice as much is twice as far.
    Linear,
    /// Each power of ten takes the same room.
    Log,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    scale: Scale,
    /// At both ends: values where linear, else exponents of ten.
    low: f64,
    high: f64,
    step: f64,
    /// Where it begins and ends on the canvas.
    from: f64,
    to: f64,
}

impl Axis {
    /// An axis on which all values have room.
    pub(super) fn new(scale: Scale, values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let values: Vec<_> = values.filter(|value| value.is_finite() && *value > 0.0).collect();
        let most = values.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        match scale {
            Scale::Linear => {
                let step = step(most);
                Self { scale, low: 0.0, high: (most / step).ceil() * step, step, from, to }
            }
            Scale::Log => {
                let low = values.iter().copied().fold(most, f64::min).log10().floor();
                Self { scale, low, high: most.log10().ceil().max(low + 1.0), step: 1.0, from, to }
            }
        }
    }

    pub(super) fn at(&self, value: f64) -> f64 {
        let value = match self.scale {
            Scale::Linear => value,
            Scale::Log => value.max(f64::MIN_POSITIVE).log10(),
        };
        let share = (value - self.low) / (self.high - self.low);
        self.from + share.clamp(0.0, 1.0) * (self.to - self.from)
    }

    /// Round values from one end to the other, with their texts.
    pub(super) fn ticks(self) -> Vec<(f64, String)> {
        let ends = self.high + self.step / 2.0;
        let ticks = std::iter::successors(Some(self.low), |at| Some(at + self.step));
        let ticks = ticks.take_while(|at| *at < ends).take(100);
        let value = |at: f64| if self.scale == Scale::Linear { at } else { 10_f64.powf(at) };
        ticks.map(value).map(|value| (value, text(value))).collect()
    }
}

/// As short as it is exact.
fn text(value: f64) -> String {
    let rounded = (value * 1e6).round() / 1e6;
    if rounded >= 1000.0 { super::thousands(rounded) } else { rounded.to_string() }
}

/// What is between two ticks of an axis that reaches to `most`: 1, 2 or 5 times a power of ten, five or fewer to
/// `most`, or a little more.
fn step(most: f64) -> f64 {
    let least = most / 5.0;
    let power = 10_f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0].map(|digit| digit * power).into_iter().find(|step| *step >= least).unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(scale: Scale, values: &[f64]) -> Vec<String> {
        let axis = Axis::new(scale, values.iter().copied(), 0.0, 100.0);
        axis.ticks().into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn linear_axes_count_in_round_steps_from_zero() {
        assert_eq!(texts(Scale::Linear, &[3.0, 43.0]), ["0", "10", "20", "30", "40", "50"]);
        assert_eq!(texts(Scale::Linear, &[135_000.0]), ["0", "50,000", "100,000", "150,000"]);
        assert_eq!(texts(Scale::Linear, &[0.3]), ["0", "0.1", "0.2", "0.3"]);
    }

    #[test]
    fn logarithmic_axes_have_a_tick_for_each_power_of_ten() {
        assert_eq!(texts(Scale::Log, &[18.5, 18_000.0]), ["10", "100", "1,000", "10,000", "100,000"]);
        assert_eq!(texts(Scale::Log, &[5.0]), ["1", "10"]);
    }

    #[test]
    fn values_are_where_their_scale_has_them() {
        let linear = Axis::new(Scale::Linear, [50.0].into_iter(), 100.0, 200.0);
        assert!((linear.at(25.0) - 150.0).abs() < 1e-9);
        let log = Axis::new(Scale::Log, [1.0, 100.0].into_iter(), 100.0, 200.0);
        assert!((log.at(10.0) - 150.0).abs() < 1e-9);
    }

    #[test]
    fn axes_without_values_are_drawn_all_the_same() {
        for scale in [Scale::Linear, Scale::Log] {
            let axis = Axis::new(scale, std::iter::empty(), 0.0, 100.0);
            assert!(axis.at(1.0).is_finite() && !axis.ticks().is_empty());
        }
    }
}
