//! Positions of values on an axis, and its ticks.

/// The scale of an axis.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Scale {
    /// Linear, from zero.
    Linear,
    /// Logarithmic to base ten.
    Log,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    scale: Scale,
    /// The ends of the axis: values if linear, exponents of ten if logarithmic.
    low: f64,
    high: f64,
    step: f64,
    /// The ends of the axis on the canvas.
    from: f64,
    to: f64,
}

impl Axis {
    /// An axis that covers all values.
    pub(super) fn new(scale: Scale, values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let values: Vec<_> = values.filter(|value| value.is_finite() && *value > 0.0).collect();
        let max = values.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        match scale {
            Scale::Linear => {
                let step = step(max);
                Self { scale, low: 0.0, high: (max / step).ceil() * step, step, from, to }
            }
            Scale::Log => {
                let low = values.iter().copied().fold(max, f64::min).log10().floor();
                Self { scale, low, high: max.log10().ceil().max(low + 1.0), step: 1.0, from, to }
            }
        }
    }

    pub(super) fn position(&self, value: f64) -> f64 {
        let value = match self.scale {
            Scale::Linear => value,
            Scale::Log => value.max(f64::MIN_POSITIVE).log10(),
        };
        let share = (value - self.low) / (self.high - self.low);
        self.from + share.clamp(0.0, 1.0) * (self.to - self.from)
    }

    /// Round values from one end to the other, with their labels.
    pub(super) fn ticks(self) -> Vec<(f64, String)> {
        let ends = self.high + self.step / 2.0;
        let ticks = std::iter::successors(Some(self.low), |at| Some(at + self.step));
        let ticks = ticks.take_while(|at| *at < ends).take(100);
        let value = |at: f64| if self.scale == Scale::Linear { at } else { 10_f64.powf(at) };
        ticks.map(value).map(|value| (value, label(value))).collect()
    }
}

/// The shortest exact text.
fn label(value: f64) -> String {
    let rounded = (value * 1e6).round() / 1e6;
    if rounded >= 1000.0 { super::thousands(rounded) } else { rounded.to_string() }
}

/// The distance of ticks on an axis up to `max`: 1, 2 or 5 times a power of ten, with at most five steps.
fn step(max: f64) -> f64 {
    let least = max / 5.0;
    let power = 10_f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0].map(|digit| digit * power).into_iter().find(|step| *step >= least).unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale, values: &[f64]) -> Vec<String> {
        let axis = Axis::new(scale, values.iter().copied(), 0.0, 100.0);
        axis.ticks().into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn linear_axis_has_round_steps_from_zero() {
        assert_eq!(labels(Scale::Linear, &[3.0, 43.0]), ["0", "10", "20", "30", "40", "50"]);
        assert_eq!(labels(Scale::Linear, &[135_000.0]), ["0", "50,000", "100,000", "150,000"]);
        assert_eq!(labels(Scale::Linear, &[0.3]), ["0", "0.1", "0.2", "0.3"]);
    }

    #[test]
    fn logarithmic_axis_has_a_tick_per_power_of_ten() {
        assert_eq!(labels(Scale::Log, &[18.5, 18_000.0]), ["10", "100", "1,000", "10,000", "100,000"]);
        assert_eq!(labels(Scale::Log, &[5.0]), ["1", "10"]);
    }

    #[test]
    fn position_follows_the_scale() {
        let linear = Axis::new(Scale::Linear, [50.0].into_iter(), 100.0, 200.0);
        assert!((linear.position(25.0) - 150.0).abs() < 1e-9);
        let log = Axis::new(Scale::Log, [1.0, 100.0].into_iter(), 100.0, 200.0);
        assert!((log.position(10.0) - 150.0).abs() < 1e-9);
    }

    #[test]
    fn axis_without_values_has_ticks() {
        for scale in [Scale::Linear, Scale::Log] {
            let axis = Axis::new(scale, std::iter::empty(), 0.0, 100.0);
            assert!(axis.position(1.0).is_finite() && !axis.ticks().is_empty());
        }
    }
}
